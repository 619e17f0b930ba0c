/** A mailbox as an address header writes it. */
interface WrittenMailbox {
  /** Name without quotes; encoded words are not decoded. Empty if there is none. */
  readonly name: string;
  /** Text in the place of the address; it may be no address. */
  readonly address: string;
}

/** The mailboxes of an address header. */
interface AddressList {
  readonly boxes: readonly WrittenMailbox[];
  /**
   * True for a list of RFC 5322 3.4 without groups, and without comments but a plain one behind an address, as in
   * `root@acme.example (Cron Daemon)`: all readers find the same mailboxes in it. So they do if the name of an address is that address.
   */
  readonly strict: boolean;
  /** False if more than `MAX_BOXES` mailboxes are named: then `boxes` are the first ones. */
  readonly complete: boolean;
}

/** Maximum number of mailboxes read from a header: more than a message can have recipients. */
export const MAX_BOXES = 1000;

/**
 * Reads the unfolded value of an address header, in one pass: 128 KB take 10 ms, whatever they are, where postal-mime's parser
 * takes up to a second. Texts that are no mailbox are left out.
 */
export function readAddressList(value: string): AddressList {
  const boxes: WrittenMailbox[] = [];
  let strict = true;
  let box = newBox();
  const endBox = (): void => {
    if (box.angle !== null) boxes.push({ name: box.name.trim() || (box.comment ?? ""), address: box.angle.trim() });
    else if (box.text.trim() !== "") boxes.push({ name: box.comment ?? "", address: box.text.trim() });
    else strict = false;
    box = newBox();
  };
  for (let at = 0; at < value.length; ) {
    if (boxes.length === MAX_BOXES) return { boxes, strict, complete: false };
    const first = value.charAt(at);
    const end = endOfPiece(value, at, first);
    const piece = value.slice(at, end === -1 ? value.length : end);
    const isText = first === '"' || !SPECIAL.has(first);
    if (box.comment !== null && first !== "," && piece.trim() !== "") strict = false;
    if (first === ",") endBox();
    else if (first === "<" && end !== -1 && box.angle === null) box.angle = piece.slice(1, -1);
    else if (isText && end !== -1 && box.angle === null) {
      box.text += piece;
      box.name += first === '"' ? piece.slice(1, -1).replace(/\\(.)/gs, "$1") : piece;
      box.needsQuotes ||= first !== '"' && /[@[\]\\]/.test(piece);
    } else if (box.comment === null && (box.angle !== null || ADDRESS.test(box.text.trim())) && NAMING.test(piece)) {
      box.comment = piece.slice(1, -1).trim();
    } else if (!isText || piece.trim() !== "") strict = false;
    // A group begins with its name and ends as a list does.
    if (first === ":") box = newBox();
    if (first === ";" && (box.angle !== null || box.text.trim() !== "")) endBox();
    if (box.angle !== null && box.needsQuotes && box.text.trim() !== box.angle.trim()) strict = false;
    at += piece.length;
  }
  endBox();
  return boxes.length > MAX_BOXES ? { boxes: boxes.slice(0, MAX_BOXES), strict, complete: false } : { boxes, strict, complete: true };
}

function newBox(): { text: string; name: string; angle: string | null; comment: string | null; needsQuotes: boolean } {
  return { text: "", name: "", angle: null, comment: null, needsQuotes: false };
}

// An address without quotes, and a comment after it that is nothing but a name.
const ADDRESS = /^[^\s"]+@[^\s"@]+$/;
const NAMING = /^\([^()<>[\]:;@\\,"]*\)$/;

const SPECIAL = new Set('"(),:;<>');

/** The position behind the piece that begins at `at` with `first`; -1 if it is opened and not closed. */
function endOfPiece(value: string, at: number, first: string): number {
  if (first === '"') return endOfQuoted(value, at);
  if (first === "<") return endOfAngle(value, at);
  if (first === "(") return endOfComment(value, at);
  let end = at + 1;
  if (!SPECIAL.has(first)) while (end < value.length && !SPECIAL.has(value.charAt(end))) end += 1;
  return end;
}

/** The position behind the quotation that begins at `at`; -1 if it is not closed. */
function endOfQuoted(value: string, at: number): number {
  for (let i = at + 1; i < value.length; i += 1) {
    if (value[i] === '"') return i + 1;
    if (value[i] === "\\") i += 1;
  }
  return -1;
}

/** The position behind the angle brackets that open at `at`, in which quotations may be; -1 if they are not closed. */
function endOfAngle(value: string, at: number): number {
  for (let i = at + 1; i < value.length && value[i] !== "<"; i += 1) {
    if (value[i] === ">") return i + 1;
    if (value[i] !== '"') continue;
    const end = endOfQuoted(value, i);
    if (end === -1) return -1;
    i = end - 1;
  }
  return -1;
}

/** The position behind the comment that opens at `at`, with those inside it; -1 if it is not closed. */
function endOfComment(value: string, at: number): number {
  let depth = 0;
  for (let i = at; i < value.length; i += 1) {
    if (value[i] === "(") depth += 1;
    if (value[i] === ")") depth -= 1;
    if (value[i] === "\\") i += 1;
    if (depth === 0) return i + 1;
  }
  return -1;
}
