import { createHmac } from "node:crypto";
import { Command, Option } from "commander";
import { setOptionMetadata } from "../contract/metadata.ts";
import { type Flags, type Run, runAction } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { explainSignature } from "../signature/explain.ts";
import type { Session } from "../types.ts";

/** `mailsvc signature sign|verify|explain`: the signatures of webhooks, without a server. */
export function signatureCommand(run: Run): Command {
  const noun = new Command("signature").description("Sign, verify and explain signatures of webhooks");
  const sign = withInputs(new Command("sign").description("Sign a body as the service does; prints the value of X-Service-Signature"));
  sign.addHelpText("after", "  mailsvc signature sign --secret $AGENT_WEBHOOK_SECRET --body event.json");
  noun.addCommand(
    runAction(sign, run, "local", async (session, _args, flags) => {
      const { body, secret } = await readInputs(session, flags);
      const signature = createHmac("sha256", secret).update(body).digest("hex");
      await session.out.data({ signature }, () => signature);
      return EXIT.ok;
    }),
  );
  for (const [name, description] of [
    ["verify", "Check a signature of a body; exit 1 when it does not match"],
    ["explain", "Find out why a signature does not match, such as a body that was parsed and written again"],
  ] as const) {
    const command = withInputs(new Command(name).description(description));
    command.addOption(new Option("--signature <hex>", "The value of X-Service-Signature").makeOptionMandatory());
    command.addHelpText("after", `  mailsvc signature ${name} --secret $AGENT_WEBHOOK_SECRET --body raw.json --signature 5c3f…`);
    noun.addCommand(runAction(command, run, "local", name === "verify" ? verify : explain));
  }
  return noun;
}

function withInputs(command: Command): Command {
  return command
    .addOption(new Option("--secret <secret>", "The webhook's secret (default AGENT_WEBHOOK_SECRET)"))
    .addOption(setOptionMetadata(new Option("--body <file>", "The raw body; - reads stdin").makeOptionMandatory(), { type: "file" }));
}

async function readInputs({ host, input }: Session, flags: Flags): Promise<{ body: Buffer; secret: string }> {
  const secret = flags["secret"] ?? host.env["AGENT_WEBHOOK_SECRET"];
  if (typeof secret !== "string" || secret === "") throw usageError("--secret is needed.", { hint: "Or set AGENT_WEBHOOK_SECRET." });
  return { secret, body: Buffer.from(await input.bytes(String(flags["body"]), "--body")) };
}

async function verify(session: Session, _args: readonly unknown[], flags: Flags): Promise<Exit> {
  const { verifySignature } = await import("@mailsvc/agent-kit");
  const { body, secret } = await readInputs(session, flags);
  const valid = verifySignature({ body, secrets: secret, signature: String(flags["signature"]), id: null, timestamp: null }) !== null;
  const { out } = session.term;
  await session.out.data({ valid }, () => (valid ? out.green("The signature matches.") : out.red("The signature does not match.")));
  if (!valid) session.out.note("Find out why: mailsvc signature explain with the same flags");
  return valid ? EXIT.ok : EXIT.differs;
}

async function explain(session: Session, _args: readonly unknown[], flags: Flags): Promise<Exit> {
  const { body, secret } = await readInputs(session, flags);
  const found = explainSignature(body, String(flags["signature"]), secret) ?? {
    id: "unknown",
    what: "Nothing known explains it: the secret or the body is another one.",
    fix: "Compare the secret with the listing's, and store the raw bytes of the request to compare them.",
  };
  const { out } = session.term;
  await session.out.data(found, () =>
    found.fix === null ? out.green(found.what) : `${out.bold(found.what)}\n${out.dim("fix")}  ${found.fix}`,
  );
  return found.fix === null ? EXIT.ok : EXIT.differs;
}
