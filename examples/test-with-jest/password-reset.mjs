import { randomInt } from "node:crypto";

const USERS = new Map([["ada@example.com", "Ada"]]);

/** Password resets by mail, sent with a client of @mailsvc/sdk. */
export class PasswordResets {
  #client;
  #codes = new Map();

  constructor(client) {
    this.#client = client;
  }

  /** Sends a code and a link to a user. Strangers get no mail, and the caller does not learn who is a user. */
  async request(address) {
    const name = USERS.get(address);
    if (name === undefined) return;
    const code = String(randomInt(100_000, 1_000_000));
    this.#codes.set(address, code);
    await this.#client.emails.send({
      from: "Acme <hello@acme.example>",
      to: address,
      subject: "Reset your password",
      text: `Hello ${name},\n\nyour code is ${code}. Or open https://acme.example/reset?code=${code}\n`,
    });
  }

  /** True if a code is the one in the mail. It works once. */
  confirm(address, code) {
    return this.#codes.get(address) === code && this.#codes.delete(address);
  }
}
