import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import { resumeForBuilder } from "../activations/activations.ts";
import { listingActivations } from "../activations/of-listing.ts";
import { type Opened, openCheckout, startPayment } from "../payments/payments.ts";
import { createListing, listListings, rotateSecret, showListing, updateListing } from "./listings.ts";
import { cancelListing } from "./period.ts";
import { findListing } from "./store.ts";

export const listingHandlers: Handlers<typeof contract.listings> = {
  list: (input, { read, deps, workspaceId }) => listListings(read, deps, workspaceId, input),
  create: (input, { tx, deps, workspaceId }) => createListing(tx, deps, workspaceId, input),
  get: async ({ slug }, { read, deps, workspaceId }) => showListing(await findListing(read, workspaceId, slug), deps.clock.now()),
  update: ({ slug, ...change }, { tx, deps, workspaceId }) => updateListing(tx, deps, workspaceId, slug, change),
  checkout: {
    prepare: ({ slug }, { read, deps, workspaceId }) => openCheckout(read, deps, workspaceId, slug),
    run: ({ slug }, { tx, deps, workspaceId }, opened: Opened | null) => startPayment(tx, deps, workspaceId, slug, opened),
  },
  cancel: ({ slug }, { tx, deps, workspaceId }) => cancelListing(tx, deps, workspaceId, slug),
  rotateSecret: (input, { tx, deps, workspaceId }) => rotateSecret(tx, deps, workspaceId, input),
  activations: async ({ slug, ...input }, { read, deps, workspaceId }) =>
    listingActivations(read, await findListing(read, workspaceId, slug), deps.clock.now(), input),
  resume: ({ slug, id }, { tx, deps, workspaceId }) => resumeForBuilder(tx, deps, workspaceId, slug, id),
};
