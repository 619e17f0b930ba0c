import type { RelayStep } from "@mailsvc/sdk/contract";
import { parseMailbox } from "@mailsvc/sdk/contract";
import type { OutgoingMail } from "../mail/mailer.ts";
import { adviseOn } from "./hints.ts";
import type { KnownRelay } from "./known-relay.ts";
import type { RelayDeps } from "./relay-deps.ts";

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
