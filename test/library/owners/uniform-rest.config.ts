import { defineApplication } from 'uniform-rest'
import { createRides, rides } from './rides.js'

/** An application with several kinds of owners, whose numbers have nothing to do with each other. */
export default defineApplication({
  entities: [rides],
  roles: { Admin: [] },
  ownerClaimType: 'member_id',
  owners: { driver: 'driver_id', rider: 'rider_id' },
  migrations: [createRides]
})
