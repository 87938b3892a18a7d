/** What prefixes the API's paths, as the server wrote it into the page. */
export const API_BASE = document.body.dataset['api'] ?? ''
