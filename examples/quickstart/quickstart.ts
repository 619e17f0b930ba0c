// Sends one email and waits until it is in the inbox. Needs a development server (`npm start` in the repository, or
// `mailsvc dev`) and the two variables it prints: MAILSVC_URL and MAILSVC_API_KEY.
import { isMailsvcError, Mailsvc } from "@mailsvc/sdk";

const client = new Mailsvc();
const to = `ada+${Date.now()}@example.com`;

try {
  const { id } = await client.emails.send({
    from: "Acme <hello@acme.example>",
    to,
    subject: "Welcome to Acme",
    html: "<h1>Welcome</h1><p>Good to have you.</p>",
    text: "Welcome. Good to have you.",
  });
  console.log(`accepted   ${id}`);

  const mail = await client.inbox.wait({ to, timeout: 10 });
  console.log(`delivered  ${mail.id} "${mail.subject}" to ${mail.to}`);

  const email = await client.emails.get(id);
  for (const event of email.events) console.log(`           ${event.at} ${event.type}`);
} catch (error) {
  if (!isMailsvcError(error)) throw error;
  console.error(`${error.message}\n${error.hint ?? ""}`);
  process.exitCode = 1;
}
