import { Box, createSvgIcon, TextField, Typography } from '@mui/material'
import { type ReactElement, useState } from 'react'
import { Menu, useSidebarState } from 'react-admin'
import { type Catalogue, type Resource, titleOf } from './catalogue.js'
import { inWords } from './words.js'

const Person = createSvgIcon(
  <path d="M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zm0 2c-2.7 0-8 1.3-8 4v2h16v-2c0-2.7-5.3-4-8-4z" />,
  'Person'
)
/** From so many resources on the menu is searched faster than it is read. */
const SEARCHED_FROM = 12

interface AdminMenuProps {
  readonly catalogue: Catalogue
  readonly hasOverview: boolean
  readonly hasAccounts: boolean
}

/** The pages that the caller may open: by group, and found by a part of their name. */
export function AdminMenu({ catalogue, hasOverview, hasAccounts }: AdminMenuProps): ReactElement {
  const [isOpen] = useSidebarState()
  const [text, setText] = useState('')
  const listed = catalogue.resources.filter(({ name }) => catalogue.allows(name, 'paged'))
  const sought = text.trim().toLowerCase()
  const found = listed.filter((one) => titleOf(one).toLowerCase().includes(sought))
  const isSought = sought !== ''
  return (
    <Box sx={isOpen ? WHOLE_NAMES : {}}>
      {isOpen && listed.length >= SEARCHED_FROM && (
        <TextField
          type="search"
          size="small"
          label="Find a page"
          value={text}
          onChange={(event) => setText(event.target.value)}
          sx={{ m: 1, width: 'calc(100% - 16px)' }}
        />
      )}
      {hasOverview && !isSought && (
        <Menu aria-label="First page">
          <Menu.DashboardItem primaryText="Overview" />
        </Menu>
      )}
      {Array.from(byGroup(found), ([group, resources]) => (
        <Box key={group}>
          {group !== '' && isOpen && (
            <Typography
              variant="overline"
              component="h2"
              sx={{ display: 'block', px: 2, pt: 1, overflowWrap: 'break-word' }}
            >
              {group}
            </Typography>
          )}
          <Menu aria-label={group === '' ? 'Pages' : group}>
            {resources.map((resource) => (
              <Menu.ResourceItem key={resource.name} name={resource.name} leftIcon={<Sign resource={resource} />} />
            ))}
          </Menu>
        </Box>
      ))}
      {isSought && found.length === 0 && (
        <Typography role="status" sx={{ p: 2 }}>
          No page has this in its name.
        </Typography>
      )}
      {hasAccounts && !isSought && (
        <Menu aria-label="Accounts">
          <Menu.Item to="/accounts" primaryText="Accounts" leftIcon={<Person />} />
        </Menu>
      )}
    </Box>
  )
}

/** A long name takes more lines, since its end may be what tells it from another. */
const WHOLE_NAMES = { '& a .MuiTypography-root': { whiteSpace: 'normal', overflowWrap: 'break-word' } } as const

/** Those without a group first, then the groups in the order of their first resource. */
function byGroup(resources: readonly Resource[]): ReadonlyMap<string, readonly Resource[]> {
  const groups = new Map<string, Resource[]>([['', []]])
  for (const resource of resources) {
    const { group = '' } = resource
    groups.set(group, [...(groups.get(group) ?? []), resource])
  }
  if (groups.get('')?.length === 0) groups.delete('')
  return groups
}

/** The icon of the resource, or letters in its place, so that pages differ where the menu is narrow. */
function Sign({ resource: { name, icon = '' } }: { readonly resource: Resource }): ReactElement {
  const [first = '', second] = name.split('-')
  const letters = inWords(`${first.charAt(0)}${(second ?? first.slice(1)).charAt(0)}`)
  return <Box aria-hidden data-letters={icon === '' ? letters : icon} sx={LETTERS} />
}

/** Generated, so that the letters are no part of what the page is called. */
const LETTERS = {
  width: 24,
  height: 24,
  lineHeight: '24px',
  borderRadius: 1,
  fontSize: '0.75rem',
  fontWeight: 600,
  textAlign: 'center',
  bgcolor: 'action.selected',
  '&::before': { content: 'attr(data-letters)' }
} as const
