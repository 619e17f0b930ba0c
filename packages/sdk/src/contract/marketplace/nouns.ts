import type { Contract } from "../endpoint.ts";
import { activations } from "./activations.ts";
import { brand } from "./brand.ts";
import { catalog } from "./catalog.ts";
import { listings } from "./listings.ts";
import { payments } from "./payments.ts";
import { plans } from "./plans.ts";

/** What brands and builders do in the marketplace, by noun and verb. */
export const marketplace = { listings, payments, catalog, activations, plans, brand } as const satisfies Contract;
