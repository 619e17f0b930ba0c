export { EVENT_TYPES, sampleEvent, sampleEvents } from "./testing/sample-events.ts";
export { type SignedRequest, type SignedRequestOptions, signedRequest } from "./testing/signed-request.ts";
