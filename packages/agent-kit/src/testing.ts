export { type ProposedWork, type TestActivation, TestMarketplace, type TestMarketplaceOptions } from "./testing/marketplace.ts";
export { EVENT_TYPES, sampleEvent, sampleEvents } from "./testing/sample-events.ts";
export { type SignedRequest, type SignedRequestOptions, signedRequest } from "./testing/signed-request.ts";
