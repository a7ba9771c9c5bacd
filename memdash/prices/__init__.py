"""The price table and the cost of a request: the only place where money is computed.

Prices are US dollars per million tokens. Costs are summed in whole units of 10⁻¹² dollars, so that a sum does not depend on
its order, and returned as dollars. ``None`` means "n/a": the model has no price here, or the server reported no tokens; it is
never the same as 0.
"""

from memdash.prices.fields import MAX_PRICE
from memdash.prices.models import FIELDS, ModelPrice, Tier
from memdash.prices.table import BillLine, Bills, PriceTable

__all__ = ["FIELDS", "MAX_PRICE", "BillLine", "Bills", "ModelPrice", "PriceTable", "Tier"]
