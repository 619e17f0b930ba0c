import type { Noun } from "./noun.ts";
import { AGENT_NOUNS } from "./nouns/agents.ts";
import { AUTOMATION_NOUNS } from "./nouns/automations.ts";
import { CAMPAIGN_NOUNS } from "./nouns/campaigns.ts";
import { CREDIT_NOUNS } from "./nouns/credits.ts";
import { FILE_NOUNS } from "./nouns/files.ts";
import { FORM_NOUNS } from "./nouns/forms.ts";
import { MEMBER_NOUNS } from "./nouns/members.ts";
import { OPERATOR_NOUNS } from "./nouns/operator.ts";
import { PEOPLE_NOUNS } from "./nouns/people.ts";
import { RECIPIENT_NOUNS } from "./nouns/recipients.ts";
import { REPEATED_NOUNS } from "./nouns/repeated.ts";
import { SENDING_NOUNS } from "./nouns/sending.ts";
import { WEBHOOK_NOUNS } from "./nouns/webhooks.ts";

/** Everything that a world can have. */
export const NOUNS: Readonly<Record<string, Noun>> = {
  ...PEOPLE_NOUNS,
  ...SENDING_NOUNS,
  ...REPEATED_NOUNS,
  ...CAMPAIGN_NOUNS,
  ...AUTOMATION_NOUNS,
  ...WEBHOOK_NOUNS,
  ...AGENT_NOUNS,
  ...CREDIT_NOUNS,
  ...RECIPIENT_NOUNS,
  ...FORM_NOUNS,
  ...FILE_NOUNS,
  ...MEMBER_NOUNS,
  ...OPERATOR_NOUNS,
};

/** Nouns that a noun needs before it. */
export const NEEDS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    ["run", "wakeup", "approval", "waitingRun", "proposal", "message", "spending", "landingPage"].map((noun) => [noun, ["agent"]]),
  ),
  submission: ["agent", "landingPage"],
  signUp: ["form"],
  visitors: ["form", "agent", "landingPage"],
  allowance: ["agent"],
  resentCampaign: ["campaign"],
  opening: ["campaign"],
  clicking: ["mail"],
  leaving: ["campaign"],
  passedOn: ["agent", "reply"],
  alarm: ["crowd", "pacedCampaign"],
};
