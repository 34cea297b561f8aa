-- What is asked all the time. A session keeps the plans of a function, also behind a pooler that gives every transaction
-- another session; a statement is planned each time it comes, which takes longer than to carry it out.
--
-- This is a migration: it is not changed any more, and may be run again.
--
-- A plan that was made for small tables must be right for large ones too, so all go by the keys.

-- Moves the head of a field, if it is where it is expected and the server still promises what it promised at the start,
-- and stores what follows it. Says whether it did. The head of a new field is made, or moved where it only ever held a fence.
CREATE OR REPLACE FUNCTION quipu.append(
    to_field text, from_position bigint, from_epoch bigint, from_hash bytea, from_fence bigint,
    to_position bigint, to_epoch bigint, to_hash bytea,
    positions bigint[], epochs bigint[], prevs bytea[], hashes bytea[], headers bytea[], sizes bigint[],
    body_positions bigint[], events integer[], salts bytea[], bodies bytea[], to_sealed boolean
) RETURNS boolean LANGUAGE plpgsql SET enable_seqscan = off AS $function$
BEGIN
    IF current_setting('synchronous_commit') = 'off' OR current_setting('fsync') <> 'on' THEN
        RETURN false;
    END IF;
    IF from_position = 0 THEN
        INSERT INTO quipu.fields AS f (name, position, epoch, hash, sealed)
            VALUES (to_field, to_position, to_epoch, to_hash, to_sealed)
            ON CONFLICT (name) DO UPDATE SET position = excluded.position, epoch = excluded.epoch,
                hash = excluded.hash, sealed = excluded.sealed
            WHERE f.position = 0 AND f.fence = from_fence AND NOT f.sealed;
    ELSE
        UPDATE quipu.fields AS f SET position = to_position, epoch = to_epoch, hash = to_hash
            WHERE f.name = to_field AND f.position = from_position AND f.epoch = from_epoch AND f.hash = from_hash
                AND f.fence = from_fence AND f.sealed = to_sealed;
    END IF;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO quipu.commits (field, position, epoch, prev, hash, header, bytes)
        SELECT to_field, c.* FROM unnest(positions, epochs, prevs, hashes, headers, sizes) AS c;
    INSERT INTO quipu.bodies (field, position, event, salt, body)
        SELECT to_field, b.* FROM unnest(body_positions, events, salts, bodies) AS b;
    RETURN true;
END
$function$;

-- The commits of a field from one position to before another, and no more once they are together larger than `room`; then
-- their bodies, each with the number of its event. What a commit takes with its bodies is noted beside it, so no text is
-- touched to find out. Positions are dense, so a page ends at a position and not after a number of rows.
CREATE OR REPLACE FUNCTION quipu.page(
    of_field text, first bigint, beyond bigint, room bigint, with_headers boolean, with_bodies boolean
) RETURNS TABLE (at bigint, event integer, epoch bigint, prev_or_salt bytea, hash_or_body bytea, header bytea)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET work_mem = '32MB' AS $function$
DECLARE
    last bigint;
BEGIN
    SELECT max(page.position) INTO last FROM (
        SELECT c.position, sum(c.bytes) OVER (ORDER BY c.position) - c.bytes AS before FROM quipu.commits AS c
        WHERE c.field = of_field AND c.position >= first AND c.position < beyond
    ) AS page WHERE page.before < room;
    IF last IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT c.position, NULL::integer, c.epoch, c.prev, c.hash, CASE WHEN with_headers THEN c.header END
        FROM quipu.commits AS c WHERE c.field = of_field AND c.position BETWEEN first AND last ORDER BY c.position;
    IF with_bodies THEN
        RETURN QUERY SELECT b.position, b.event, NULL::bigint, b.salt, b.body, NULL::bytea
            FROM quipu.bodies AS b WHERE b.field = of_field AND b.position BETWEEN first AND last
            ORDER BY b.position, b.event;
    END IF;
END
$function$;
