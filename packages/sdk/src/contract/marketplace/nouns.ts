import type { Contract } from "../endpoint.ts";
import { activations } from "./activations.ts";
import { approvals } from "./approvals.ts";
import { brand } from "./brand.ts";
import { catalog } from "./catalog.ts";
import { credits } from "./credits.ts";
import { deliveries } from "./deliveries.ts";
import { assets, leadMagnets } from "./files.ts";
import { landingPages } from "./landing-pages.ts";
import { listings } from "./listings.ts";
import { messages } from "./messages.ts";
import { payments } from "./payments.ts";
import { plans } from "./plans.ts";
import { runs } from "./runs.ts";

/** The endpoints of the marketplace for brands and builders, by noun and verb. */
export const marketplace = {
  listings,
  deliveries,
  payments,
  catalog,
  activations,
  approvals,
  messages,
  runs,
  credits,
  plans,
  brand,
  landingPages,
  leadMagnets,
  assets,
} as const satisfies Contract;
