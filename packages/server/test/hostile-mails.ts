const CRLF = "\r\n";
const MEGABYTE = 1024 * 1024;

/** Mails of a megabyte, each made to take a parser much time or memory, by what they repeat. */
export const hostileMails: Readonly<Record<string, () => Buffer>> = {
  "line ends": () => fill(["Subject: x", ""], CRLF),
  "line feeds": () => fill(["Subject: x", ""], "\n"),
  "empty parts": () => fill(["Content-Type: multipart/mixed; boundary=x", ""], `--x${CRLF}`),
  "ten thousand parts": () => fill(["Content-Type: multipart/mixed; boundary=x", ""], `--x${CRLF}${CRLF}${"y".repeat(90)}${CRLF}`),
  "flowed lines": () => fill(["Content-Type: text/plain; format=flowed; delsp=yes", ""], `a ${CRLF}`),
  "messages within messages": () => fill([], `Content-Type: message/rfc822${CRLF}${CRLF}`),
  "levels of parts": () => {
    const level = (_: unknown, i: number): string => `Content-Type: multipart/mixed; boundary=b${i}${CRLF}${CRLF}--b${i}${CRLF}`;
    return Buffer.from(Array.from({ length: 20_000 }, level).join(""));
  },
  "one header": () => fill(["Subject: x"], " x"),
  "short headers": () => fill([], `a: b${CRLF}`),
  "encoded words": () => fill([], `Subject: ${"=?utf-8?Q?=61?= ".repeat(60)}${CRLF}`),
  addresses: () => fill([], `From: ${"<a@b>,(".repeat(130)}${CRLF}`),
  parameters: () =>
    Buffer.from(`Content-Type: text/plain${Array.from({ length: 70_000 }, (_, i) => `; a*${i}*=%20`).join("")}${CRLF}${CRLF}x`),
  tags: () => fill(["Content-Type: text/html", ""], "<div><a href='"),
  "fields of a status": () =>
    fill(["Content-Type: multipart/report; boundary=x", "", "--x", "Content-Type: message/delivery-status", ""], `a: b${CRLF}`),
  "base64 of nothing": () => fill(["Content-Transfer-Encoding: base64", "Content-Type: text/plain", ""], `=${CRLF}`),
  blanks: () => fill(["From: mailer-daemon@x.example", "Subject: undeliverable", ""], " "),
};

function fill(head: readonly string[], repeated: string): Buffer {
  return Buffer.concat([Buffer.from(head.map((line) => line + CRLF).join("")), Buffer.alloc(MEGABYTE, repeated)]);
}
