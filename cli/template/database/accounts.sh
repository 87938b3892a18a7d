# The entry point of the image runs this once, when the database is made: the account of the data service, with the four
# rights that it needs. APP_PASSWORD has letters and digits alone.
docker_process_sql <<SQL
CREATE USER 'app'@'%' IDENTIFIED BY '$APP_PASSWORD';
GRANT SELECT, INSERT, UPDATE, DELETE ON app.* TO 'app'@'%';
SQL
