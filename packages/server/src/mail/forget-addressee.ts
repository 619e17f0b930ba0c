import { parseAnyMailbox } from "@mailsvc/sdk/contract";
import { readAddressList } from "./address-list.ts";
import { mailboxHeader } from "./header.ts";
import type { Addressee } from "./mailer.ts";
import { splitMessage } from "./message-head.ts";

/**
 * Returns a message whose To and Cc headers no longer name a person; `key` is the address as `addressKey` returns it. Signatures
 * over these headers are invalid afterwards. A header with more mailboxes than are read names nobody afterwards.
 */
export async function forgetAddressee(message: Buffer, key: string): Promise<Buffer> {
  const { decodeWords } = await import("postal-mime");
  const { fields, content } = splitMessage(message);
  const lines = fields.map((field) => {
    if (field.key !== "to" && field.key !== "cc") return Buffer.from(field.line, "latin1");
    const { boxes, complete } = readAddressList(field.value);
    const named = boxes.flatMap(({ name, address }) => toAddressee(decodeWords(name), address));
    const others = complete ? named.filter((one) => parseAnyMailbox(one.address).key !== key) : [];
    if (complete && others.length === named.length) return Buffer.from(field.line, "latin1");
    return Buffer.from(others.length === 0 ? `${field.name}: undisclosed-recipients:;\r\n` : `${mailboxHeader(field.name, ...others)}\r\n`);
  });
  return Buffer.concat([...lines, Buffer.from("\r\n"), content]);
}

function toAddressee(name: string, address: string): Addressee[] {
  try {
    return [{ name: name.replace(/\p{Cc}/gu, " "), address: parseAnyMailbox(address).address }];
  } catch {
    return [];
  }
}
