export { getEmail } from "./emails.ts";
export { send } from "./send.ts";
