import { fileURLToPath } from "node:url";
import { test } from "vitest";
import { followTranscripts } from "./transcripts.ts";
import { startCliWithServer } from "./world.ts";

const docs = fileURLToPath(new URL("../../../docs/", import.meta.url));

test.each(["debugging.md"])("the transcripts of %s are what is printed", async (page) => {
  const { mailsvc, world } = await startCliWithServer();
  await followTranscripts(`${docs}${page}`, mailsvc, world.settle);
});
