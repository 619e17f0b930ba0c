import type { contract } from "@mailsvc/sdk/contract";
import type { Handlers } from "../../http/handler.ts";
import type { ListingDeps } from "./deps.ts";
import { cancelListing } from "./lifecycle.ts";
import { createListing, listListings, rotateSecret, updateListing } from "./listings.ts";
import { getListingRow, showListing } from "./store.ts";

/** The endpoints of listings, except those that payments and activations handle. */
export const listingHandlers: Omit<Handlers<typeof contract.listings, ListingDeps>, "checkout" | "activations" | "resume"> = {
  list: (input, { read, deps, workspaceId }) => listListings(read, deps, workspaceId, input),
  create: (input, { tx, deps, workspaceId }) => createListing(tx, deps, workspaceId, input),
  get: async ({ slug }, { read, deps, workspaceId }) => showListing(await getListingRow(read, workspaceId, slug), deps.clock.now()),
  update: ({ slug, ...change }, { tx, deps, workspaceId }) => updateListing(tx, deps, workspaceId, slug, change),
  cancel: ({ slug }, { tx, deps, workspaceId }) => cancelListing(tx, deps, workspaceId, slug),
  rotateSecret: (input, { tx, deps, workspaceId }) => rotateSecret(tx, deps, workspaceId, input),
};
