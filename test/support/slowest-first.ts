import { basename } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// Those that take about ten seconds and more, the longest first. On a fresh clone Vitest knows only how large files are, and would leave
// some of these to the end, where they run alone.
const SLOW = [
  "docs",
  "quickstarts",
  "packages",
  "reference",
  "release",
  "marketplace-steps",
  "uploads-crash",
  "newcomer",
  "agent-templates",
  "binary",
  "contacts-import",
  "site",
  "recording",
  "cluster",
  "automation-kills",
  "developer-webhooks-crash",
  "marketplace-crash",
  "upgrade",
  "campaign-crash",
  "marketplace-cluster",
  "delivery-kills",
  "events-poller",
  "smtp-kills",
  "hostile-mail",
  "binary-packages",
  "upgrade-load",
  "crash-stop",
  "smtp-clients",
  "relay-kills",
  "stop-in-time",
  "receiver",
  "kill",
].map((name) => `${name}.test.ts`);

/** Starts the slowest files first, so that no core is idle at the end. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder;
    const rank = ({ project, moduleId }: TestSpecification) => {
      const place = project.name === "e2e" ? SLOW.indexOf(basename(moduleId)) : -1;
      return place === -1 ? SLOW.length : place;
    };
    return (await super.sort(files)).sort((a, b) => groupOf(a) - groupOf(b) || rank(a) - rank(b));
  }
}
