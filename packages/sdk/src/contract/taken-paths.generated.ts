// Generated from the contract by `npm run generate`.

/** By the method and path of an endpoint: the paths that it has if an argument is part of the path of another one, and that one. */
export const TAKEN_PATHS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "POST /api/v1/send/:slug": { "/api/v1/send/batch": "emails.sendBatch" },
  "GET /api/v1/contacts/:id": { "/api/v1/contacts/imports": "contacts.imports", "/api/v1/contacts/export": "contacts.export" },
  "GET /api/v1/v1/events/:id": { "/api/v1/v1/events/stream": "events.tail" },
  "GET /api/v1/test-inbox/:id": { "/api/v1/test-inbox/wait": "testInbox.wait" },
  "GET /__dev/inbox/:id": { "/__dev/inbox/wait": "inbox.wait" },
  "GET /api/v1/marketplace/listings/:slug/deliveries/:id": { "/api/v1/marketplace/listings/:slug/deliveries/stream": "deliveries.tail" },
};
