-- Gives the rows of the tables that requests may change a version. `uniform-rest check` prints these statements for entities
-- whose tables have no version. No row is copied.

ALTER TABLE `customer` ADD COLUMN `row_version` BLOB NOT NULL DEFAULT x'0000000000000000';
ALTER TABLE `film` ADD COLUMN `row_version` BLOB NOT NULL DEFAULT x'0000000000000000';
ALTER TABLE `film_actor` ADD COLUMN `row_version` BLOB NOT NULL DEFAULT x'0000000000000000';
ALTER TABLE `rental` ADD COLUMN `row_version` BLOB NOT NULL DEFAULT x'0000000000000000';
ALTER TABLE `rental_event` ADD COLUMN `row_version` BLOB NOT NULL DEFAULT x'0000000000000000';
ALTER TABLE `store_day` ADD COLUMN `row_version` BLOB NOT NULL DEFAULT x'0000000000000000';
ALTER TABLE `voucher` ADD COLUMN `row_version` BLOB NOT NULL DEFAULT x'0000000000000000';
