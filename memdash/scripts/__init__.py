"""Scripts: the model, loading and validation of YAML files, grading, the catalogue, and importers of foreign conversations."""

from memdash.scripts.catalogue import (
    Entry,
    bundled_folder,
    check_file,
    find_scripts,
    list_scripts,
    script_folders,
    stamp_of_scripts,
)
from memdash.scripts.grading import Verdict, grade, matches
from memdash.scripts.importers import FORMATS, import_file, import_text
from memdash.scripts.loading import check_text, load_script, parse_script
from memdash.scripts.model import (
    Block,
    Expectation,
    Fact,
    Grading,
    Json,
    Material,
    Recipe,
    Script,
    Step,
    ToolCall,
    Turn,
    Value,
)
from memdash.scripts.patterns import PatternError
from memdash.scripts.serialising import from_json, script_hash, to_json, to_yaml
from memdash.scripts.validation import ensure_valid

__all__ = [
    "FORMATS",
    "Block",
    "Entry",
    "Expectation",
    "Fact",
    "Grading",
    "Json",
    "Material",
    "PatternError",
    "Recipe",
    "Script",
    "Step",
    "ToolCall",
    "Turn",
    "Value",
    "Verdict",
    "bundled_folder",
    "check_file",
    "check_text",
    "ensure_valid",
    "find_scripts",
    "from_json",
    "grade",
    "import_file",
    "import_text",
    "list_scripts",
    "load_script",
    "matches",
    "parse_script",
    "script_folders",
    "script_hash",
    "stamp_of_scripts",
    "to_json",
    "to_yaml",
]
