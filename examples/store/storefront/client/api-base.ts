/** The prefix of the paths of the API. The server wrote it into the page. */
export const API_BASE = document.body.dataset['api'] ?? ''
