import { isApiError, type Mailsvc } from "@mailsvc/sdk";

const FROM = "Acme <hello@acme.example>";
const REMIND_AFTER_MS = 3 * 86_400_000;

/** Outcome of a sign-up. */
export type SignUp = { outcome: "welcome"; reminderId: string } | { outcome: "unreachable" };

/** Welcomes a new user now, and reminds them in three days. */
export const signUp = async (client: Mailsvc, user: { name: string; email: string }, now: number): Promise<SignUp> => {
  const mail = { from: FROM, to: user.email, tags: { kind: "sign-up" } };
  try {
    await client.emails.send({ ...mail, subject: `Welcome, ${user.name}`, text: "Good to have you." });
    const reminder = await client.emails.send({
      ...mail,
      subject: "Have you looked around?",
      text: "There is more to see.",
      scheduledAt: new Date(now + REMIND_AFTER_MS).toISOString(),
    });
    return { outcome: "welcome", reminderId: reminder.id };
  } catch (error) {
    // The address bounced or complained before, so mail to it is refused.
    if (isApiError(error, "recipient_suppressed")) return { outcome: "unreachable" };
    throw error;
  }
};

/** Takes the reminder back; false when it has gone out already. */
export const becameActive = async (client: Mailsvc, reminderId: string): Promise<boolean> => {
  const cancelled = await client.emails.cancel(reminderId).safe();
  if (cancelled.ok) return true;
  if (isApiError(cancelled.error, "invalid_state")) return false;
  throw cancelled.error;
};
