/**
 * The value of `{{unsubscribeUrl}}` when a template is rendered for sending. It stands for the link of each recipient, which
 * takes its place before the hand-over, so that recipients can share a rendered message. `.invalid` never exists (RFC 2606).
 */
export const UNSUBSCRIBE_URL = "https://unsubscribe.mailsvc.invalid/";
