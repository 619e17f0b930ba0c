import { BaseSequencer, type TestSpecification } from "vitest/node";

// Test files that take about ten seconds and more, the longest first. On a fresh clone Vitest knows only how large files are, and would
// leave some of these to the end, where they run alone.
const SLOW = [
  // Tests of the packages.
  "dashboard/test/every-page",
  "dashboard/test/campaigns",
  "cli/test/templates-rendered",
  "cli/test/process",
  "dashboard/test/audience-stories",
  "dashboard/test/hostile",
  "dashboard/test/audience-scroll",
  "dashboard/test/large-campaign",
  "server/test/list-rows.pg",
  "cli/test/round-trip",
  "cli/test/dev-command",
  "submission/hostile-messages",
  "dashboard/test/templates",
  "dashboard/test/audience-rights",
  "conformance/check-agent",
  "dashboard/test/sign-in",
  "campaigns/audience",
  "contacts/list",
  "migrate/copy",
  "payments/payments",
  "dashboard/test/brand",
  "dashboard/test/automations",
  "cli/test/dev-recording",
  "http/server",
  "campaigns/old-mail",
  "campaigns/ends.property",
  "marketplace/work.property",
  "workspaces/deletion",
  "inbox/hostile-mail",
  // Tests of whole programs.
  "test/docs",
  "erasure-races",
  "worlds/many",
  "worlds/worlds",
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
    const rank = ({ moduleId }: TestSpecification) => {
      const place = SLOW.findIndex((name) => moduleId.endsWith(`/${name}`));
      return place === -1 ? SLOW.length : place;
    };
    return (await super.sort(files)).sort((a, b) => groupOf(a) - groupOf(b) || rank(a) - rank(b));
  }
}
