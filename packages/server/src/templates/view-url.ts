/**
 * The value of `{{viewInBrowserUrl}}` when a template is rendered for sending. It stands for the link of each recipient, as
 * `UNSUBSCRIBE_URL` does.
 */
export const VIEW_URL = "https://view.mailsvc.invalid/";
