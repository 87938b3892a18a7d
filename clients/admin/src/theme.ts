import { defaultTheme, type RaThemeOptions } from 'react-admin'

/** Dark enough under white text, and on white (WCAG 2.2, 1.4.3: a contrast of 4.5). */
const BLUE = '#1565c0'

/** The usual look of react-admin in the fonts of the system, so that nothing is loaded from elsewhere. */
export const theme: RaThemeOptions = {
  ...(defaultTheme as RaThemeOptions),
  palette: { ...defaultTheme.palette, primary: { main: BLUE }, secondary: { main: BLUE } },
  components: {
    ...(defaultTheme as RaThemeOptions).components,
    MuiCircularProgress: { defaultProps: { 'aria-label': 'Loading' } }
  },
  typography: { fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif' }
}
