import { readOn, startOfHtml } from "../../html/tokenizer.ts";
import { MAIL } from "./markup.ts";
import type { Fault, Node, PutNode, Tree } from "./tree.ts";

/** Addresses that are the same for whoever writes the mail: those of this service. */
const OWN_ADDRESSES: ReadonlySet<string> = new Set(["unsubscribeUrl", "viewInBrowserUrl"]);

const MAX_FAULTS = 20;

/**
 * Finds what makes a mail differ from what one reader of it sees, or tells others about its readers: anything but fields of contacts with
 * a default, and fields inside of tags, such as in the address of an image.
 */
export function findUnplain({ role, nodes }: Tree): Fault[] {
  const faults: Fault[] = [];
  const state = startOfHtml();
  const refuse = ({ at }: { at: Fault | PutNode["at"] }, message: string): void => {
    if (faults.length < MAX_FAULTS) faults.push({ line: at.line, column: at.column, code: "not_plain", message });
  };
  for (const node of nodes) {
    if (node.kind === "text") {
      if (role === "html") for (const _ of readOn(state, node.text, MAIL));
      continue;
    }
    if (node.kind !== "put" || node.raw || !isField(node)) {
      refuse(node, 'Only fields of contacts can be in it: {{firstName}}, or {{default firstName "there"}}.');
      continue;
    }
    const isOwn = node.value.kind === "path" && OWN_ADDRESSES.has(node.value.text);
    const isAddress = state.mode === "quoted" && state.tag === "a" && state.attribute === "href";
    if (state.mode !== "text" && !(isOwn && isAddress && state.value === ""))
      refuse(node, "A field cannot be inside of a tag, a style or a comment: others would learn of the reader by it.");
  }
  return faults;
}

/** A field of the contact, with a fixed text in its place at most. */
function isField({ value }: Extract<Node, { kind: "put" }>): boolean {
  if (value.kind === "path") return value.from === "root" || value.from === "here";
  if (value.kind !== "call" || value.helper !== "default") return false;
  const [field, other] = value.args;
  return field?.kind === "path" && other?.kind === "literal";
}
