import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

const USERS = new Map([["ada@example.com", "Ada"]]);

/** Starts a small web app, whose users can reset their passwords, on any free port. It mails with a client of @mailsvc/sdk. */
export async function startApp(client) {
  const tokens = new Map();

  async function request(address, url) {
    const name = USERS.get(address);
    // Strangers get no mail, and the page does not tell which addresses are those of users.
    if (name === undefined) return;
    const token = randomUUID();
    tokens.set(token, name);
    await client.emails.send({
      from: "Acme <hello@acme.example>",
      to: address,
      subject: "Reset your password",
      html: `<p>Hello ${name},</p><p><a href="${url}/reset?token=${token}">Choose a new password</a></p>`,
      text: `Hello ${name},\n\nchoose a new password: ${url}/reset?token=${token}\n`,
    });
  }

  const server = createServer(async (req, res) => {
    const { pathname, searchParams } = new URL(req.url, url);
    const token = searchParams.get("token");
    res.setHeader("content-type", "text/html; charset=utf-8");
    if (pathname === "/reset" && !tokens.has(token)) return res.end(page("<p>This link is not valid any more.</p>"));
    if (req.method === "GET") return res.end(page(pathname === "/reset" ? NEW_PASSWORD : FORGOTTEN));
    const form = await readForm(req);
    if (pathname === "/") {
      await request(form.get("email"), url);
      return res.end(page("<p>If we know this address, a mail is on its way.</p>"));
    }
    const name = tokens.get(token);
    tokens.delete(token);
    return res.end(page(`<p>Your password is changed, ${name}.</p>`));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}`;
  return {
    url,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const FORGOTTEN = `<form method="post"><label>Email <input name="email" type="email"></label> <button>Reset password</button></form>`;
const NEW_PASSWORD = `<form method="post"><label>New password <input name="password" type="password"></label> <button>Save</button></form>`;

const page = (content) => `<!doctype html><html lang="en"><title>Acme</title><body>${content}</body></html>`;

async function readForm(req) {
  let body = "";
  for await (const part of req.setEncoding("utf8")) body += part;
  return new URLSearchParams(body);
}
