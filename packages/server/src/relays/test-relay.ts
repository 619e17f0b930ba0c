import { parseMailbox, type RelayStep } from "@mailsvc/sdk/contract";
import type { OutgoingMail } from "../mail/mailer.ts";
import type { RelayDeps } from "./admin.ts";
import type { KnownRelay } from "./known-relay.ts";
import type { RelaySettings } from "./settings.ts";

interface TestMail {
  readonly to?: string | undefined;
  readonly from?: string | undefined;
}

/** Connects to a relay and logs in, and sends a mail if one is asked for. The steps end at the first one that fails. */
export async function testRelay(
  deps: RelayDeps,
  relay: KnownRelay,
  { to, from = deps.config.mailFrom }: TestMail,
): Promise<{ ok: boolean; relay: string; steps: RelayStep[] }> {
  const { real } = deps.clock;
  // With it comes nodemailer's client, which a start does without.
  const { probeSmtp } = await import("../mail/smtp-probe.ts");
  const probed = await probeSmtp(relay.target, real);
  const steps: RelayStep[] = probed.map((one) => ({ ...one, hint: one.ok ? null : adviseOn(one, relay.settings) }));
  if (to !== undefined && steps.every(({ ok }) => ok)) {
    const startedAt = real.now();
    const receipt = await relay.live.mailer.send(buildTestMail(deps, relay.settings.name, { to, from }));
    const ok = receipt.outcome === "sent" || receipt.outcome === "delivered";
    const detail = ok ? receipt.response : receipt.error.message;
    const step = { step: "send" as const, ok, ms: Math.round(real.now() - startedAt), detail };
    steps.push({ ...step, hint: ok ? null : adviseOn(step, relay.settings) });
  }
  return { ok: steps.every(({ ok }) => ok), relay: relay.settings.name, steps };
}

function buildTestMail({ clock, ids }: RelayDeps, relay: string, { to, from }: { to: string; from: string }): OutgoingMail {
  const { address, domain } = parseMailbox(from);
  return {
    envelopeFrom: address,
    envelopeTo: to,
    messageId: `<${ids("em")}@${domain}>`,
    from,
    to: [{ name: "", address: to }],
    cc: [],
    replyTo: null,
    subject: `Test of the relay ${relay}`,
    html: null,
    text: `This mail was sent by: mailsvc relays test ${relay} --to ${to}\n`,
    headers: {},
    attachments: [],
    date: clock.now(),
    attempt: 1,
  };
}

interface Advice {
  readonly step: RelayStep["step"] | null;
  readonly when: RegExp;
  readonly say: (settings: RelaySettings) => string;
}

/** Advice on failed steps; the first entry that fits counts. */
const ADVICE: readonly Advice[] = [
  { step: "resolve", when: /./, say: ({ host }) => `Check the spelling of the host ${host}, and that this machine has DNS.` },
  {
    step: "connect",
    when: /ECONNREFUSED/,
    say: ({ host }) => `Nothing listens there: check host and port. ${host} may use 587 (STARTTLS) or 465 (implicit TLS).`,
  },
  {
    step: "connect",
    when: /./,
    say: () => "A firewall may drop it. Many networks block mail ports; 587 and 465 are open more often than 25.",
  },
  {
    step: null,
    when: /wrong version number|packet length too long|ssl3_get_record/i,
    say: () => "The port speaks another kind of TLS: use --tls implicit on 465, and --tls required on 587.",
  },
  {
    step: null,
    when: /certificate|self.signed|altnames/i,
    say: () => "The certificate is not valid for this host. Use the name in it as the host; --no-verify is for servers of your own only.",
  },
  { step: "greet", when: /STARTTLS|upgrade/i, say: () => "The server offers no STARTTLS: try --port 465 --tls implicit." },
  {
    step: "greet",
    when: /timeout|ETIMEDOUT|does not greet/i,
    say: () => "It accepts connections and says nothing: ask its operator, or try another port.",
  },
  {
    step: "greet",
    when: /turns connections away/,
    say: () => "It may not know this machine, or take mail at another port only: ask its operator, or try 587 with a login.",
  },
  {
    step: "token",
    when: /invalid_client|AADSTS7000215|AADSTS700016/,
    say: ({ name }) =>
      `The application or its secret is wrong or has expired. Correct it: mailsvc relays update ${name} --client-id … --client-secret …`,
  },
  {
    step: "token",
    when: /invalid_grant|AADSTS70008|AADSTS50173/,
    say: ({ name, refreshToken }) =>
      !refreshToken
        ? "The provider does not let this application act by itself: allow client credentials for it there, or use a refresh token."
        : `The refresh token was revoked or has expired. Get another one, then: mailsvc relays update ${name} --refresh-token …`,
  },
  { step: "token", when: /invalid_scope|AADSTS70011/, say: () => "The application may not ask for this scope: see docs/relays.md." },
  { step: "token", when: /./, say: () => "Check tokenUrl, and that this machine reaches it." },
  {
    step: "login",
    when: /5\.7\.139|SmtpClientAuthentication/i,
    say: ({ user }) =>
      `SMTP AUTH is off for this mailbox: Set-CASMailbox ${user} -SmtpClientAuthenticationDisabled $false, or Microsoft 365 admin center, mail settings.`,
  },
  {
    step: "login",
    when: /access token/i,
    say: ({ oauth, user }) =>
      oauth === "microsoft"
        ? `The token is not accepted for ${user}: register the service principal in Exchange and give it the mailbox (docs/relays.md).`
        : `The token is not accepted for ${user}: it must be of this account, with the scope https://mail.google.com/ (docs/relays.md).`,
  },
  {
    step: "login",
    when: /\b53[45]\b|invalid login|authenticat/i,
    say: ({ name, host }) =>
      /gmail|google/i.test(host)
        ? `Google takes an app password or --oauth google. Then: mailsvc relays update ${name} --password …`
        : `User or password is wrong. Correct it: mailsvc relays update ${name} --user … --password …`,
  },
  {
    step: "login",
    when: /does not offer to log in/,
    say: () => "The server offers a login only on an encrypted connection, or none at all: check --tls and --user.",
  },
  { step: "send", when: /\b55\d\b/, say: () => "The relay refuses this sender or recipient: verify the sender with your provider." },
];

/** Returns advice on a step that failed. */
function adviseOn({ step, detail }: Pick<RelayStep, "step" | "detail">, settings: RelaySettings): string {
  const fitting = ADVICE.find((one) => (one.step === null || one.step === step) && one.when.test(detail));
  return fitting?.say(settings) ?? `See what its operator says about: ${detail.slice(0, 100)}`;
}
