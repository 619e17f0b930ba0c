// The pages of the documentation that MCP clients can read and search. The reference is left out: operations and errors have tools.
import { globSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const docs = fileURLToPath(new URL("../docs", import.meta.url));

/** Their paths within docs, sorted. */
export const docPages = () => globSync(["*.md", "{start,recipes,moving}/*.md"], { cwd: docs }).sort();

/** Their folder. */
export const docPath = (page) => join(docs, page);
