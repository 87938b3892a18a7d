import { type ReactElement, type ReactNode, useState } from 'react'
import { MenuItem, Typography } from '@mui/material'
import {
  AppBar,
  defaultDarkTheme,
  defaultLightTheme,
  Layout,
  Logout,
  type RaThemeOptions,
  Title,
  TitlePortal,
  useGetIdentity,
  UserMenu,
  useUserMenu
} from 'react-admin'
import { COLOURS, FONT } from 'uniform-rest/look'
import type { Catalogue } from './catalogue.js'
import { AdminMenu } from './menu.js'
import { PasswordDialog } from './password.js'

/** Whose password is changed, and the pages that are there for some callers. */
interface Frame {
  /** That of the API, without a slash at its end. */
  readonly baseUrl: string
  readonly catalogue: () => Catalogue
  readonly hasOverview: () => boolean
  readonly hasAccounts: () => boolean
}

/** The frame of every page: menu, title and the way out. */
export function layoutWith({
  baseUrl,
  catalogue,
  hasOverview,
  hasAccounts
}: Frame): (props: { readonly children?: ReactNode }) => ReactElement {
  const PageMenu = (): ReactElement => (
    <AdminMenu catalogue={catalogue()} hasOverview={hasOverview()} hasAccounts={hasAccounts()} />
  )
  const UserAccount = (): ReactElement => <Account baseUrl={baseUrl} />
  /** The title of a page is its heading of the first level, for those who go by headings. */
  const AdminBar = (): ReactElement => (
    <AppBar userMenu={<UserAccount />}>
      <TitlePortal component="h1" />
    </AppBar>
  )
  return ({ children }) => (
    <Layout appBar={AdminBar} menu={PageMenu}>
      {children}
    </Layout>
  )
}

/** In the place of a page that is not there for the caller, who is not told whether it is there for others. */
export function NothingHere(): ReactElement {
  return (
    <>
      <Title title="Not found" />
      <Typography role="status" sx={{ padding: 2 }}>
        There is no such page, or you may not see it.
      </Typography>
    </>
  )
}

/** The button shows a name, with which what it is called has to begin. */
function Account({ baseUrl }: Pick<Frame, 'baseUrl'>): ReactElement {
  const { data } = useGetIdentity()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <UserMenu label={`${data?.fullName ?? ''}: account`}>
        <PasswordItem onOpen={() => setOpen(true)} />
        <Logout />
      </UserMenu>
      {isOpen && <PasswordDialog baseUrl={baseUrl} onClose={() => setOpen(false)} />}
    </>
  )
}

function PasswordItem({ onOpen }: { readonly onOpen: () => void }): ReactElement {
  const { onClose } = useUserMenu() ?? {}
  const open = (): void => {
    onClose?.()
    onOpen()
  }
  return <MenuItem onClick={open}>Change the password</MenuItem>
}

/** The look of all pages, light or dark. Its colours are legible on all of its surfaces. */
function themeOf(base: RaThemeOptions, colours: (typeof COLOURS)['light']): RaThemeOptions {
  const accent = { main: colours.accent, contrastText: colours['on-accent'] }
  return {
    ...base,
    palette: {
      ...base.palette,
      primary: accent,
      secondary: accent,
      error: { main: colours.bad },
      warning: { main: colours.warm },
      background: { default: colours.paper, paper: colours.card },
      text: { primary: colours.ink, secondary: colours.quiet },
      divider: colours.line
    },
    components: {
      ...base.components,
      MuiCircularProgress: { defaultProps: { 'aria-label': 'Loading' } },
      // What stands in place of a reference until its name is there.
      MuiLinearProgress: { defaultProps: { 'aria-label': 'Loading' } }
    },
    // Those of the system, so that nothing is loaded from elsewhere.
    typography: {
      fontFamily: FONT,
      button: { textTransform: 'none' }
    }
  }
}

/** Light or dark as the system is until somebody chooses. */
export const theme = themeOf(defaultLightTheme as RaThemeOptions, COLOURS.light)
export const darkTheme = themeOf(defaultDarkTheme as RaThemeOptions, COLOURS.dark)
