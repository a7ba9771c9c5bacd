// Talks to the simulator at argv[2] with the official TypeScript SDK and prints what came back as one JSON object.
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ apiKey: "any-key", baseURL: process.argv[2], maxRetries: 0 });
const tools = [
  { name: "look_up", description: "Look a word up.", input_schema: { type: "object", properties: { word: { type: "string" } } } },
];
const body = {
  model: "claude-opus-5-5",
  max_tokens: 1000,
  system: "You are a travel agent.",
  messages: [{ role: "user", content: "My name is Ada. Where should I go in spring?" }],
};
const urlSafeBase64 = (text) => Buffer.from(text).toString("base64").replaceAll("+", "-").replaceAll("/", "_");
const hint = (value) => ({ headers: { "memdash-hint": urlSafeBase64(JSON.stringify(value)) } });

const seen = {};
seen.message = await client.messages.create(body, hint({ seed: 7 }));

const stream = client.messages.stream(body, hint({ seed: 7 }));
const kinds = [];
stream.on("streamEvent", (event) => kinds.push(event.type));
seen.streamed = await stream.finalMessage();
seen.kinds = kinds;

const call = { seed: 7, steps: [{ text: "", calls: [{ name: "look_up", input: { word: "spring \u{1F337}" } }] }] };
seen.toolUse = await client.messages.stream({ ...body, tools }, hint(call)).finalMessage();

seen.counted = await client.messages.countTokens({ model: body.model, system: body.system, messages: body.messages });

seen.models = [];
for await (const model of client.models.list({ limit: 2 })) seen.models.push(model.id);
seen.model = await client.models.retrieve("claude-opus-5-5");

try {
  await client.messages.create({ ...body, messages: [] });
} catch (error) {
  seen.refusal = {
    isBadRequest: error instanceof Anthropic.BadRequestError,
    status: error.status,
    type: error.type,
    requestId: error.requestID,
    message: error.error.error.message,
  };
}

const beta = await client.beta.messages.create({
  ...body,
  thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "error" } },
  betas: ["thinking-binding-controls-2026-08-01", "cache-diagnosis-2026-04-07"],
});
seen.inputTransformations = beta.input_transformations;

console.log(JSON.stringify(seen));
