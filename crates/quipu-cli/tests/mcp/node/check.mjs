// Drives a running `quipu` with the official TypeScript clients. Ends with an error at the first check that does not hold.
//
//     check.mjs GENERATION --url URL [KEY]
//     check.mjs GENERATION COMMAND ARGUMENT…

import assert from "node:assert/strict";

import { Ajv2020 } from "ajv/dist/2020.js";

import { PATIENCE, connected, wayFrom } from "./connection.mjs";
import { everyTool } from "./tools.mjs";

const way = wayFrom(process.argv.slice(2));

const finding = (content, more = {}) => ({
  type: "finding",
  content,
  intent: { purpose: "to check the clients" },
  confidence: { score: 0.8, reasoning: "we wrote it" },
  ...more,
});

async function call(client, tool, args) {
  const result = await client.callTool({ name: `akashik_${tool}`, arguments: args }, ...patience());
  assert.ok(!result.isError, `${tool}: ${JSON.stringify(result.content)}`);
  return result.structuredContent;
}

// The older package takes the schema of the answer before the options.
const patience = () => (way.generation === "2026-07-28" ? [PATIENCE] : [undefined, PATIENCE]);

async function toolsHaveSchemasThatCompile(client) {
  const { tools } = await client.listTools();
  assert.equal(tools.length, 11);
  for (const tool of tools) {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    assert.ok(ajv.validateSchema(tool.inputSchema), tool.name);
    ajv.compile(tool.inputSchema);
    ajv.compile(tool.outputSchema);
  }
}

async function everyToolAnswersAsItsSchemaSays(client) {
  await client.listTools(); // From here on the client holds every answer against its schema.
  await everyTool((tool, args) => call(client, tool, args), finding);
}

async function mistakesAreTold(client) {
  const unknown = client.callTool({ name: "akashik_dream", arguments: {} });
  await assert.rejects(unknown, (error) => error.code === -32602 && /akashik_record/.test(error.message));
  const wrong = await client.callTool({ name: "akashik_record", arguments: finding(5) });
  assert.ok(wrong.isError && /content/.test(wrong.content[0].text), JSON.stringify(wrong));
  const invented = await call(client, "record", finding("Invented fields.", { importance: "high" }));
  assert.match(invented.warnings.join(), /importance/);
  const long = await client.callTool({ name: "akashik_record", arguments: finding("x".repeat(1024 * 1024 + 1)) });
  assert.ok(long.isError && /content/.test(long.content[0].text), long.content[0].text);
}

async function resourcesAndPromptsAreRead(client) {
  const { memory_unit_id: id } = await call(client, "record", finding("Rivers run to the sea."));
  const { contents } = await client.readResource({ uri: `quipu://unit/${id}` });
  assert.match(contents[0].text, /Rivers run to the sea\./);
  const { resources } = await client.listResources();
  assert.ok(resources.some((resource) => resource.uri === `quipu://unit/${id}`));
  assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 3);
  assert.equal((await client.listPrompts()).prompts.length, 2);
  const prompt = await client.getPrompt({ name: "attune-before-you-act", arguments: { task: "sail" } });
  assert.match(prompt.messages[0].content.text, /sail/);
  await assert.rejects(client.readResource({ uri: "quipu://unit/mem-nowhere" }), /mem-nowhere/);
}

async function aSubscriberIsTold() {
  const heard = [];
  let wake = () => {};
  const hears = async (times) => {
    while (heard.length < times) await new Promise((resolve) => (wake = resolve));
  };
  await connected(
    way,
    "listener",
    async (client) => {
      // Nobody is told of what it does itself.
      await call(client, "register", { id: "rival", role: "doubter" });
      const { memory_unit_id: id } = await call(client, "record", finding("Bells ring at noon."));
      const uri = `quipu://unit/${id}`;
      const subscription =
        way.generation === "2026-07-28"
          ? await client.listen({ resourceSubscriptions: [uri] })
          : await client.subscribeResource({ uri });
      // Who listens on a stream of its own is asked to look once it is followed.
      const looks = way.generation === "2026-07-28" ? 1 : 0;
      await hears(looks);
      const relations = [{ type: "contradicts", target_id: id }];
      await call(client, "record", { agent_id: "rival", ...finding("Bells ring at one.", { relations }) });
      await hears(looks + 1);
      assert.deepEqual(new Set(heard), new Set([uri]));
      await subscription.close?.();
    },
    (uri) => {
      heard.push(uri);
      wake();
    },
  );
}

async function whatOneProcessRecordsTheNextOneFinds() {
  await connected(way, "writer", (client) => call(client, "record", finding("Snow falls in July.")));
  await connected(way, "reader", async (client) => {
    const attuned = await call(client, "attune", {
      scope: { role: "reader", max_units: 3 },
      context_hint: "when does snow fall?",
    });
    assert.equal(attuned.record[0].memory_unit.content, "Snow falls in July.");
  });
}

for (const check of [
  toolsHaveSchemasThatCompile,
  everyToolAnswersAsItsSchemaSays,
  mistakesAreTold,
  resourcesAndPromptsAreRead,
]) {
  console.log(check.name);
  await connected(way, "checker", check);
}
for (const check of [aSubscriberIsTold, whatOneProcessRecordsTheNextOneFinds]) {
  console.log(check.name);
  await check();
}
console.log("all checks hold");
