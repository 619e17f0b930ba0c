import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { openPool } from "./pool.ts";

test("a connection asks for nothing that poolers refuse when it is opened", async () => {
  // As PgBouncer takes them by default.
  const taken = ["user", "database", "client_encoding", "application_name"];
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const pool = openPool(`postgres://mail@127.0.0.1:${port}/mailsvc`);
  try {
    const refused = pool.connect().catch(() => {});
    const [socket] = (await once(server, "connection")) as [Socket];
    const [message] = (await once(socket, "data")) as [Buffer];
    // The length and the version of the protocol come first.
    const words = message.subarray(8).toString().split("\0");
    expect(words.filter((word, index) => index % 2 === 0 && word !== "" && !taken.includes(word))).toEqual([]);
    expect(words).toContain("mailsvc");
    socket.destroy();
    await refused;
  } finally {
    await pool.end();
    server.close();
  }
});
