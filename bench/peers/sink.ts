// A mail server that takes everything and keeps nothing: the fastest next hop there can be, so that what is measured is
// the sender. It understands pipelining, prints its port, and answers `stats` on stdin with the number of mails taken.

import type { AddressInfo } from "node:net";
import { createServer } from "node:net";

let taken = 0;

const REPLIES: Readonly<Record<string, string>> = {
  EHLO: "250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n",
  HELO: "250 sink\r\n",
  DATA: "354 go on\r\n",
  QUIT: "221 bye\r\n",
};

const server = createServer({ noDelay: true }, (socket) => {
  let pending = "";
  let inData = false;
  socket.setEncoding("latin1");
  socket.on("error", () => {});
  socket.write("220 sink\r\n");
  socket.on("data", (text: string) => {
    pending += text;
    let answers = "";
    for (;;) {
      const mark = inData ? "\r\n.\r\n" : "\r\n";
      const at = pending.indexOf(mark);
      if (at < 0) break;
      const verb = pending.slice(0, 4).toUpperCase();
      pending = pending.slice(at + mark.length);
      if (inData) {
        inData = false;
        taken += 1;
        answers += "250 2.0.0 taken\r\n";
        continue;
      }
      inData = verb === "DATA";
      answers += REPLIES[verb] ?? "250 ok\r\n";
    }
    if (answers) socket.write(answers);
  });
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.stdin.on("data", () => process.stdout.write(`${taken}\n`));
