/**
 * Headers of all answers that a process makes itself, as OWASP advises for interfaces. A browser runs nothing of such an
 * answer, no other site can embed it or show it in a frame, and links from it do not tell its address. The gateway's own
 * pages have a policy of their own instead, and answers of the renderer keep the headers that the renderer sets.
 */
export const OWN_ANSWERS = {
  'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin'
} as const
