import { connect } from "node:net";

/** Says lines to an SMTP server, one after the other, and answers its replies: the greeting first, then one for each line. */
export async function talkSmtp(
  port: number,
  lines: readonly (string | Uint8Array)[],
  isOver: (reply: string) => boolean = () => false,
): Promise<string[]> {
  const socket = connect(port, "127.0.0.1");
  const replies: string[] = [];
  let text = "";
  let wake = (): void => {};
  let closed = false;
  socket.setEncoding("latin1");
  socket.on("data", (chunk) => {
    text += chunk;
    wake();
  });
  for (const event of ["close", "error"])
    socket.on(event, () => {
      closed = true;
      wake();
    });
  const nextReply = async (): Promise<string> => {
    for (;;) {
      const end = /^\d{3} .*\r\n/m.exec(text);
      if (end) {
        const reply = text.slice(0, end.index + end[0].length);
        text = text.slice(reply.length);
        return reply.trim();
      }
      if (closed) return "";
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  replies.push(await nextReply());
  for (const line of lines) {
    if (closed || isOver(replies.at(-1) ?? "")) break;
    socket.write(typeof line === "string" ? `${line}\r\n` : line);
    replies.push(await nextReply());
  }
  socket.destroy();
  return replies;
}

/** A mail to an address, and the code of the reply that decides: to the address if that is refused, else to the message. */
export async function deliverSmtp(port: number, to: string, raw: Uint8Array, from = ""): Promise<number> {
  const body = Buffer.concat([Buffer.from(Buffer.from(raw).toString("latin1").replace(/^\./gm, ".."), "latin1"), Buffer.from("\r\n.\r\n")]);
  const lines = ["EHLO mx.example.com", `MAIL FROM:<${from}>`, `RCPT TO:<${to}>`, "DATA", body];
  const replies = await talkSmtp(port, lines, (reply) => /^[45]/.test(reply));
  return Number(replies.at(-1)?.slice(0, 3));
}
