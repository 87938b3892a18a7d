// Written by `uniform-rest introspect`, which writes it anew for as long as nobody changes it.
import type { Permission } from 'uniform-rest'
import { actors } from './actors.js'
import { actorInfo } from './actor-info.js'
import { addresses } from './addresses.js'
import { categories } from './categories.js'
import { cities } from './cities.js'
import { countries } from './countries.js'
import { customers } from './customers.js'
import { customerLists } from './customer-lists.js'
import { films } from './films.js'
import { filmActors } from './film-actors.js'
import { filmCategories } from './film-categories.js'
import { filmLists } from './film-lists.js'
import { inventory } from './inventory.js'
import { languages } from './languages.js'
import { payments } from './payments.js'
import { rentals } from './rentals.js'
import { rentalEvents } from './rental-events.js'
import { salesByFilmCategories } from './sales-by-film-categories.js'
import { salesByStores } from './sales-by-stores.js'
import { staff } from './staff.js'
import { staffLists } from './staff-lists.js'
import { stores } from './stores.js'
import { storeDays } from './store-days.js'
import { vouchers } from './vouchers.js'

export const introspected = [
  actors,
  actorInfo,
  addresses,
  categories,
  cities,
  countries,
  customers,
  customerLists,
  films,
  filmActors,
  filmCategories,
  filmLists,
  inventory,
  languages,
  payments,
  rentals,
  rentalEvents,
  salesByFilmCategories,
  salesByStores,
  staff,
  staffLists,
  stores,
  storeDays,
  vouchers
]

/** What the entity files ask of those who read and write: give each role its part of it. */
export const introspectedPermissions: Permission[] = [
  'actors:read',
  'actor-info:read',
  'addresses:read',
  'categories:read',
  'cities:read',
  'countries:read',
  'customers:read',
  'customers:write',
  'customer-lists:read',
  'films:read',
  'films:write',
  'film-actors:read',
  'film-actors:write',
  'film-categories:read',
  'film-lists:read',
  'inventory:read',
  'languages:read',
  'payments:read',
  'rentals:read',
  'rentals:write',
  'rental-events:read',
  'rental-events:write',
  'sales-by-film-categories:read',
  'sales-by-stores:read',
  'staff:read',
  'staff-lists:read',
  'stores:read',
  'store-days:read',
  'store-days:write',
  'vouchers:read',
  'vouchers:write'
]
