// What is generated from the contract and committed: each file's path and the text it should have.
import { served } from "@mailsvc/sdk/contract";
import { buildOpenApi } from "../packages/server/src/http/openapi.ts";
import { reference } from "./reference.mjs";

export const generated = () => {
  const document = buildOpenApi(served);
  return { "openapi.json": `${JSON.stringify(document, null, 2)}\n`, "docs/reference.md": reference(document) };
};
