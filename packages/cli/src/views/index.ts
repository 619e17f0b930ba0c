import { activationViews } from "./activations.ts";
import { auditViews } from "./audit.ts";
import { automationViews } from "./automations.ts";
import { brandViews } from "./brand.ts";
import { campaignViews } from "./campaigns.ts";
import { contactViews } from "./contacts.ts";
import { creditViews } from "./credits.ts";
import { deliveryViews } from "./deliveries.ts";
import { domainViews } from "./domains.ts";
import { emailViews } from "./emails.ts";
import { eventViews } from "./events.ts";
import { explanationViews } from "./explanations.ts";
import { fileViews } from "./files.ts";
import { inboxViews } from "./inbox.ts";
import { listingViews } from "./listings.ts";
import { listViews } from "./lists.ts";
import { messageViews } from "./messages.ts";
import { metricsViews } from "./metrics.ts";
import { pageViews } from "./pages.ts";
import { proposalViews } from "./proposals.ts";
import { providerViews } from "./providers.ts";
import { receivedViews } from "./received.ts";
import { relayViews } from "./relays.ts";
import { requestViews } from "./requests.ts";
import { runViews } from "./runs.ts";
import { segmentViews } from "./segments.ts";
import { serverViews } from "./server.ts";
import { suppressionViews } from "./suppressions.ts";
import { templateViews } from "./templates.ts";
import type { View } from "./view.ts";
import { webhookViews } from "./webhooks.ts";
import { worldViews } from "./world.ts";

/** Views by endpoint: `emails.list`. */
export const VIEWS: Readonly<Record<string, View>> = {
  ...emailViews,
  ...domainViews,
  ...relayViews,
  ...receivedViews,
  ...eventViews,
  ...requestViews,
  ...auditViews,
  ...metricsViews,
  ...explanationViews,
  ...templateViews,
  ...contactViews,
  ...listViews,
  ...segmentViews,
  ...campaignViews,
  ...automationViews,
  ...suppressionViews,
  ...providerViews,
  ...listingViews,
  ...activationViews,
  ...brandViews,
  ...deliveryViews,
  ...messageViews,
  ...proposalViews,
  ...runViews,
  ...creditViews,
  ...fileViews,
  ...pageViews,
  ...inboxViews,
  ...serverViews,
  ...worldViews,
  ...webhookViews,
};
