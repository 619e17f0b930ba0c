import { escapeFormula, formatLine } from "@mailsvc/sdk/contact-files";
import type { Recipient } from "@mailsvc/sdk/contract";
import { type Command, Option } from "commander";
import { buildEndpointCommand } from "../contract/endpoint-command.ts";
import { setOptionMetadata } from "../contract/metadata.ts";
import { fetchPages, type ListPage } from "../export/pages.ts";
import { writeExport } from "../export/target.ts";
import type { Run } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";
import { formatNumber } from "../text/units.ts";
import type { CommandSpec } from "../types.ts";

const COLUMNS: Readonly<Record<string, (recipient: Recipient) => string | number | boolean | null>> = {
  emailId: (r) => r.emailId,
  contactId: (r) => r.contactId,
  to: (r) => r.to,
  status: (r) => r.status,
  skipReason: (r) => r.skipReason,
  variant: (r) => r.variant,
  attempts: (r) => r.attempts,
  inDoubt: (r) => r.inDoubt,
  error: (r) => r.lastError?.message ?? null,
  sentAt: (r) => r.sentAt,
  openedAt: (r) => r.openedAt,
  clickedAt: (r) => r.clickedAt,
  unsubscribedAt: (r) => r.unsubscribedAt,
};

// The most that the server gives at once.
const PAGE = 1000;

/** `mailsvc campaigns recipients`: with --csv, all of them as a file. */
export function recipientsCommand(spec: CommandSpec, run: Run): Command {
  const command = buildEndpointCommand(
    spec,
    run,
    async (_session, gathered, flags) => {
      if (flags["csv"] === true) gathered.query = { ...gathered.query, limit: PAGE };
      else if (flags["output"] !== undefined) throw usageError("--output needs --csv.");
    },
    async (session, data, flags, call) => {
      if (flags["csv"] !== true) return null;
      const { out, term } = session;
      const { result, path } = await writeExport(session, flags["output"] as string | undefined, async (target) => {
        let count = 0;
        await target.write(formatLine(Object.keys(COLUMNS), ","));
        for await (const recipients of fetchPages(session, call, "recipients", data as ListPage<Recipient>)) {
          count += recipients.length;
          await target.write(recipients.map(formatRecipient).join(""));
        }
        return count;
      });
      if (path !== null)
        await out.data(
          { file: path, recipients: result, columns: Object.keys(COLUMNS) },
          () => `${term.out.green("Exported")} ${formatNumber(result)} recipients to ${path}`,
        );
      return EXIT.ok;
    },
  );
  return command.option("--csv", "All recipients as CSV").addOption(
    setOptionMetadata(new Option("--output <file>", "With --csv: the file, created when the export is complete; stdout by default"), {
      type: "file",
    }),
  );
}

function formatRecipient(recipient: Recipient): string {
  return formatLine(
    Object.values(COLUMNS).map((read) => escapeFormula(String(read(recipient) ?? ""))),
    ",",
  );
}
