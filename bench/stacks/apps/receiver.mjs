// smtp-server takes a mail, mailauth checks its sender, mailparser reads it, and SQLite keeps it with a flush before the answer. A mail whose
// sender does not pass is refused. Prints its port when it is ready.
//
//   node receiver.mjs DATABASE_FILE PORT
import { once } from "node:events";
import { DatabaseSync } from "node:sqlite";
import { buffer } from "node:stream/consumers";
import { authenticate } from "mailauth";
import { simpleParser } from "mailparser";
import { SMTPServer } from "smtp-server";

const [file, port] = process.argv.slice(2);
const database = new DatabaseSync(file);
database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
database.exec(`CREATE TABLE mails (id INTEGER PRIMARY KEY, sender TEXT, subject TEXT, text TEXT, html TEXT, checked TEXT, raw BLOB) STRICT;
  CREATE TABLE files (mail INTEGER, name TEXT, type TEXT, content BLOB) STRICT`);
const insertMail = database.prepare("INSERT INTO mails (sender, subject, text, html, checked, raw) VALUES (?, ?, ?, ?, ?, ?)");
const insertFile = database.prepare("INSERT INTO files (mail, name, type, content) VALUES (?, ?, ?, ?)");

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ["AUTH", "STARTTLS"],
  disableReverseLookup: true,
  onData: (stream, session, done) => receive(stream, session).then(() => done(), done),
});

async function receive(stream, { envelope, remoteAddress, hostNameAppearsAs }) {
  const raw = await buffer(stream);
  const sender = envelope.mailFrom.address;
  const { spf, dkim, dmarc } = await authenticate(raw, {
    sender,
    ip: remoteAddress,
    helo: hostNameAppearsAs,
    mta: "localhost",
    disableBimi: true,
  });
  const results = [spf.status.result, dkim.results[0]?.status.result, dmarc.status.result];
  if (results.some((result) => result !== "pass")) throw new Error(`The sender is not proven: ${results}.`);
  const { from, subject, text, html, attachments } = await simpleParser(raw);
  database.exec("BEGIN IMMEDIATE");
  const { lastInsertRowid } = insertMail.run(from.text, subject, text, html, results.join(), raw);
  for (const { filename, contentType, content } of attachments) insertFile.run(lastInsertRowid, filename, contentType, content);
  database.exec("COMMIT");
}

server.on("error", (error) => console.error(error.message));
server.listen(Number(port), "127.0.0.1");
await once(server.server, "listening");
console.log(port);
