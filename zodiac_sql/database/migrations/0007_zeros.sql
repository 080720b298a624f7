-- Since this version -0.0 is 0.0 wherever it comes from; migrating.py has changed what the file had.
SELECT 'every zero is positive';
