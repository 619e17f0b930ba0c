// node main.ts issues/2026-11.html: run by a CI job when an issue is merged. Needs MAILSVC_URL, MAILSVC_API_KEY and NEWSLETTER_LIST,
// the id of the list.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { Mailsvc } from "@mailsvc/sdk";
import { sendIssue } from "./newsletter.ts";

const [file] = process.argv.slice(2);
const list = process.env["NEWSLETTER_LIST"];
if (!file || !list) throw new Error("Usage: NEWSLETTER_LIST=list_… node main.ts issues/2026-11.html");
const { id, sent } = await sendIssue(new Mailsvc(), { name: basename(file), html: readFileSync(file, "utf8") }, list);
console.log(sent ? `${id} is being sent` : `${id} was sent before`);
