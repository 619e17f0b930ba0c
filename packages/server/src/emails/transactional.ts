export { getEmail } from "./emails.ts";
export { send } from "./send.ts";
export { type Accepted, acceptTemplate, acceptTest, sendAccepted } from "./template-send.ts";
