import { createTransport } from "nodemailer";

/** nodemailer's pool to the mail server on a port of this machine. */
export function createMailer(port, connections) {
  return createTransport({
    pool: true,
    host: "127.0.0.1",
    port,
    secure: false,
    ignoreTLS: true,
    maxConnections: connections,
    maxMessages: Number.POSITIVE_INFINITY,
  });
}
