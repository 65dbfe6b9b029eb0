-- How much the model is to think, as the person has set it for the session.
ALTER TABLE sessions ADD COLUMN effort TEXT NOT NULL DEFAULT '';
