/** Holds the access token, a JWT. */
export const ACCESS_COOKIE = 'app_auth_access'
/** Holds the refresh token. */
export const REFRESH_COOKIE = 'app_auth_refresh'
