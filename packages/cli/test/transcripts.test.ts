import { fileURLToPath } from "node:url";
import { test } from "vitest";
import { receiver } from "../../server/test/receiver.ts";
import { followTranscripts } from "./transcripts.ts";
import { startCliWithServer } from "./world.ts";

const docs = fileURLToPath(new URL("../../../docs/", import.meta.url));

/** The webhook that pages name. */
const WEBHOOK = "http://127.0.0.1:3000/webhook";

test.each(["debugging.md", "listening.md"])("the transcripts of %s are what is printed", async (page) => {
  await using local = await receiver();
  const { mailsvc, world } = await startCliWithServer();
  // Something has happened already on the pages about events.
  if (page === "listening.md")
    await world.sdk.emails.send({ from: "hello@acme.example", to: "ada@example.com", subject: "Hello", text: "Hi" });
  await world.settle();
  await followTranscripts(`${docs}${page}`, { mailsvc, settle: world.settle, standIns: { [WEBHOOK]: local.url } });
});
