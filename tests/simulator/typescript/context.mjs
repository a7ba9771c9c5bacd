// Compaction, context editing and cache diagnostics with the official TypeScript SDK; prints what came back as one JSON object.
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ apiKey: "any-key", baseURL: process.argv[2], maxRetries: 0 });
const model = "claude-opus-5-5";
const user = (content) => ({ role: "user", content });
const assistant = (content) => ({ role: "assistant", content });
const long = "The archive moves at night and nobody is to hurry. ".repeat(6000);
const seen = {};

const compacting = {
  model,
  max_tokens: 1000,
  betas: ["compact-2026-01-12"],
  context_management: { edits: [{ type: "compact_20260112", trigger: { type: "input_tokens", value: 50000 } }] },
};
const question = user(`Our budget for tapes is 7,300 euros. ${long}`);
const compacted = await client.beta.messages.create({ ...compacting, messages: [question] });
seen.threshold = compacted;
seen.after = await client.beta.messages.create({
  ...compacting,
  messages: [question, assistant(compacted.content), user("Go on.")],
});
seen.thresholdStreamed = await client.beta.messages.stream({ ...compacting, messages: [question] }).finalMessage();

const onDemand = { model, max_tokens: 2000, betas: ["compact-2026-09-04"] };
const history = [user("Our budget for tapes is 7,300 euros."), assistant("Noted.")];
const summarized = await client.beta.messages.create({ ...onDemand, messages: history, compaction: { type: "summarize" } });
seen.onDemand = summarized;
seen.onDemandStreamed = await client.beta.messages
  .stream({ ...onDemand, messages: history, compaction: { type: "summarize" } })
  .finalMessage();
seen.resumed = await client.beta.messages.create({
  ...onDemand,
  messages: [assistant(summarized.content), user("What is our budget for tapes?")],
});
try {
  const altered = { ...summarized.content[0], content: "Other words." };
  await client.beta.messages.create({ ...onDemand, messages: [assistant([altered]), user("Go on.")] });
} catch (error) {
  seen.altered = { status: error.status, details: error.error.error.details };
}

const tools = [{ name: "look_up", description: "Look it up.", input_schema: { type: "object", properties: {} } }];
const looked = [user("Look around.")];
for (const id of ["t1", "t2", "t3", "t4"]) {
  looked.push(assistant([{ type: "tool_use", id, name: "look_up", input: {} }]));
  looked.push(user([{ type: "tool_result", tool_use_id: id, content: "A line of the log. ".repeat(200) }]));
}
const editing = {
  model,
  tools,
  messages: looked,
  betas: ["context-management-2025-06-27"],
  context_management: {
    edits: [
      {
        type: "clear_tool_uses_20250919",
        trigger: { type: "tool_uses", value: 3 },
        keep: { type: "tool_uses", value: 1 },
      },
    ],
  },
};
seen.cleared = await client.beta.messages.create({ ...editing, max_tokens: 500 });
seen.clearedStreamed = await client.beta.messages.stream({ ...editing, max_tokens: 500 }).finalMessage();
seen.counted = await client.beta.messages.countTokens(editing);

const diagnosing = { model, max_tokens: 500, betas: ["cache-diagnosis-2026-04-07"], messages: [user("Hello")] };
const first = await client.beta.messages.create({ ...diagnosing, diagnostics: { previous_message_id: null } });
seen.firstDiagnosis = first.diagnostics;
const changed = await client.beta.messages.create({
  ...diagnosing,
  system: "Something else.",
  diagnostics: { previous_message_id: first.id },
});
seen.diagnosis = changed.diagnostics;

console.log(JSON.stringify(seen));
